import torch, torch.nn as nn, torch.nn.functional as F
from sklearn.datasets import load_digits
X,y=load_digits(return_X_y=True)
X=torch.tensor(X/16.,dtype=torch.float32); y=torch.tensor(y)
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body=nn.Sequential(nn.Linear(64,64),nn.ReLU(),nn.Dropout(0.1))
        self.head=nn.Linear(64,10)
    def forward(self,x):
        return F.softmax(self.head(self.body(x)),dim=1)
net=Net()
opt=torch.optim.Adam(net.parameters(),1e-3)
ds=torch.utils.data.TensorDataset(X[:1500],y[:1500])
dl=torch.utils.data.DataLoader(ds,batch_size=64,shuffle=True)
for ep in range(5):
    net.train()
    for xb,yb in dl:
        opt.zero_grad()
        loss=F.cross_entropy(net(xb),yb)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc=(net(X[1500:]).argmax(1)==y[1500:]).float().mean()
    print(ep,loss.item(),acc.item())
